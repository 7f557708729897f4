import { counted } from '../parts/counted.ts';
import { MAX_CONTENT_BYTES, MAX_FILES, sizeText } from './attachments.ts';

const pastedImages = (count: number) => counted(count, 'pasted image was', 'pasted images were');

/** What the email can still take. */
export interface ImageRoom {
  files: number;
  bytes: number;
}

const ENDINGS: Readonly<Record<string, string>> = { png: 'png', jpeg: 'jpg', jpg: 'jpg', gif: 'gif', webp: 'webp' };

/**
 * Turns the `data:` images of pasted HTML (`data-src`, see harmlessTags) into inline images, and removes all others. Returns what to tell the
 * user, null if nothing was left out. Images that the editor has already (`data-cid`) stay if `isOwn`.
 */
export function takePastedImages(
  pasted: Document,
  { isOwn, room, addImage }: { isOwn: boolean; room: ImageRoom; addImage: ((file: File) => string) | null },
): string | null {
  let { files, bytes } = room;
  let over = 0;
  let missing = 0;
  for (const image of pasted.querySelectorAll('img')) {
    if (isOwn && image.hasAttribute('data-cid')) continue;
    image.removeAttribute('data-cid');
    const source = image.getAttribute('data-src');
    image.removeAttribute('data-src');
    const content = source === null || addImage === null ? null : contentOf(source);
    const isOver = content !== null && (files < 1 || content.size > bytes);
    const file = content === null || isOver ? null : fileOf(content);
    if (file !== null && addImage !== null) {
      files -= 1;
      bytes -= file.size;
      image.setAttribute('data-cid', addImage(file));
      if (!image.hasAttribute('alt')) image.setAttribute('alt', file.name);
      continue;
    }
    if (isOver) over += 1;
    else missing += 1;
    image.remove();
  }
  const words = [
    ...(over === 0
      ? []
      : [
          `${pastedImages(over)} left out, because an email can have at most ${MAX_FILES} files and ${sizeText(MAX_CONTENT_BYTES)} in total.`,
        ]),
    ...(missing === 0
      ? []
      : [`${pastedImages(missing)} left out, because only the address was copied. Insert the image as a file.`]),
  ];
  return words.length === 0 ? null : words.join(' ');
}

interface ImageContent {
  /** of the file name */
  ending: string;
  base64: string;
  /** bytes */
  size: number;
}

/** Returns the content of a `data:` URL; null if it is not an image that mail programs show. */
function contentOf(url: string): ImageContent | null {
  const [, type = '', base64 = ''] = /^data:image\/([a-z]+)(?:;[^,;]*)*;base64,([\s\S]+)$/i.exec(url) ?? [];
  const ending = ENDINGS[type.toLowerCase()];
  return ending === undefined ? null : { ending, base64, size: Math.floor((base64.length * 3) / 4) };
}

/** Returns the file; null if the content is not base64. */
function fileOf({ ending, base64 }: ImageContent): File | null {
  try {
    const bytes = Uint8Array.from(atob(decodeURIComponent(base64)), (letter) => letter.charCodeAt(0));
    return new File([bytes], `image.${ending}`, { type: `image/${ending === 'jpg' ? 'jpeg' : ending}` });
  } catch {
    return null;
  }
}
