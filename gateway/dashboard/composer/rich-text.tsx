import '@mantine/tiptap/styles.css';
import { Link, RichTextEditor } from '@mantine/tiptap';
import { type Editor, mergeAttributes, Node, useEditor } from '@tiptap/react';
import StarterKit from '@tiptap/starter-kit';
import { useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react';
import { Icon } from '../parts/icons.ts';
import { notify } from '../parts/notify.tsx';
import { counted } from '../parts/words.ts';
import { MAX_CONTENT_BYTES, MAX_FILES, sizeText } from './attachments.ts';
import { textOfDocument } from './document-text.ts';
import { editorHtml, harmlessTags, htmlOfText, sentHtml } from './mail-html.ts';
import classes from './rich-text.module.css';

/** Inserts plain text at the cursor; `replacesSlash`: in the place of the slash before it. */
export type InsertText = (text: string, replacesSlash: boolean) => void;

export interface RichTextProps {
  label: string;
  /** HTML as it is sent */
  value: string;
  onChange: (html: string, text: string) => void;
  /** Keeps an image as an attachment and returns its Content-ID. Null: the email cannot have inline images. */
  addImage: ((file: File) => string) | null;
  /** what the email can still take */
  room: ImageRoom;
  /** Returns the `data:` URL of an inline image; null if it is missing. */
  showImage: (contentId: string) => Promise<string | null>;
  error?: React.ReactNode;
  /** whether it takes the focus when it appears */
  isFocused: boolean;
  isTall: boolean;
  insert: React.Ref<InsertText>;
  /** called when a slash is typed at the beginning of a paragraph */
  onSlash: () => void;
}

/** The editor for text with formatting. Its HTML has the elements in mail-html.ts only, whatever is pasted. */
export function RichText(props: RichTextProps) {
  const { label, value, onChange, addImage, room, showImage, error, isFocused, isTall, insert, onSlash } = props;
  const slash = useEffectEvent(onSlash);
  const last = useRef(value);
  // What was written here and is not rendered yet, oldest first.
  const written = useRef<string[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const change = useEffectEvent(onChange);
  // The editor shows images while it is rendered for the first time.
  const images = useRef({ addImage, showImage, room });
  images.current = { addImage, showImage, room };
  const insertImages = (files: readonly File[]) =>
    files.flatMap((file) => {
      const contentId = images.current.addImage?.(file) ?? null;
      return contentId === null ? [] : [{ type: 'inlineImage', attrs: { contentId, alt: file.name } }];
    });
  const editor: Editor = useEditor({
    extensions: [
      StarterKit.configure({ link: false, heading: { levels: [1, 2, 3] }, trailingNode: false }),
      Link.configure({ openOnClick: false, HTMLAttributes: { target: null, rel: null } }),
      Signature,
      Table,
      TableRow,
      TableCell,
      inlineImage((contentId) => images.current.showImage(contentId)),
    ],
    content: editorHtml(value),
    injectCSS: false,
    editorProps: {
      attributes: { role: 'textbox', 'aria-multiline': 'true', 'aria-label': label },
      transformPastedHTML: (html) => cleanPasted(html, images.current),
      // Keys of the composer: Ctrl+Enter sends, Esc leaves.
      handleDOMEvents: {
        keydown: (_view, { key, ctrlKey, metaKey }) => key === 'Escape' || (key === 'Enter' && (ctrlKey || metaKey)),
      },
      handleTextInput(view, from, _to, typed) {
        if (typed === '/' && view.state.doc.resolve(from).parentOffset === 0) slash();
        return false;
      },
      handlePaste(_view, event): boolean {
        const { clipboardData } = event;
        const pasted = listImages(clipboardData?.files);
        // Office programs add a picture of the text that was copied.
        if (pasted.length === 0 || hasContent(clipboardData?.getData('text/html') ?? '')) return false;
        event.preventDefault();
        return editor.chain().focus().insertContent(insertImages(pasted)).run();
      },
      handleDrop(view, event) {
        const dropped = listImages(event.dataTransfer?.files);
        if (dropped.length === 0) return false;
        event.preventDefault();
        const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ?? view.state.selection.from;
        return editor.chain().focus().insertContentAt(at, insertImages(dropped)).run();
      },
    },
    onUpdate({ editor: changed }) {
      last.current = changed.isEmpty ? '' : sentHtml(changed.getHTML());
      written.current = [...written.current.slice(-MAX_UNRENDERED), last.current];
      change(last.current, textOfDocument(changed.getJSON()));
    },
  });
  const takeFocus = useEffectEvent(() => {
    if (!isFocused || editor.isDestroyed) return;
    editor.commands.setTextSelection(endOfText(editor));
    editor.view.focus();
  });
  // At once: the editor's own autofocus comes after what is typed in the first moment, or before the editor is on the page.
  useEffect(() => takeFocus(), [editor]);
  useImperativeHandle(insert, () => (inserted, replacesSlash) => {
    const { from, to } = editor.state.selection;
    const chain = editor.chain().focus();
    if (replacesSlash) chain.deleteRange({ from: Math.max(0, from - 1), to });
    if (inserted.includes('\n')) chain.insertContent(htmlOfText(inserted));
    else if (inserted !== '') chain.insertContent({ type: 'text', text: inserted });
    chain.run();
  });
  useEffect(() => {
    const at = written.current.lastIndexOf(value);
    written.current.splice(0, at + 1);
    // On a slow machine, what is rendered is older than what was typed since.
    if (at !== -1) return;
    // The signature of another sender replaces that of the previous.
    if (value !== last.current) editor.commands.setContent(editorHtml(value), { emitUpdate: true });
  }, [editor, value]);

  return (
    <div>
      <RichTextEditor
        editor={editor}
        data-tall={isTall || undefined}
        classNames={{ content: classes['content'] ?? '' }}
      >
        <RichTextEditor.Toolbar role="toolbar" aria-label="Formatting" className={classes['toolbar'] ?? ''}>
          <RichTextEditor.ControlsGroup>
            <RichTextEditor.Bold />
            <RichTextEditor.Italic />
          </RichTextEditor.ControlsGroup>
          <RichTextEditor.ControlsGroup>
            <RichTextEditor.Link />
            <RichTextEditor.Unlink />
          </RichTextEditor.ControlsGroup>
          <RichTextEditor.ControlsGroup>
            <RichTextEditor.BulletList />
            <RichTextEditor.OrderedList />
            <RichTextEditor.Blockquote />
          </RichTextEditor.ControlsGroup>
          {addImage !== null && (
            <RichTextEditor.ControlsGroup>
              <RichTextEditor.Control
                aria-label="Insert image"
                title="Insert image"
                onClick={() => picker.current?.click()}
              >
                <Icon name="photo" size={16} />
              </RichTextEditor.Control>
            </RichTextEditor.ControlsGroup>
          )}
        </RichTextEditor.Toolbar>
        <RichTextEditor.Content />
      </RichTextEditor>
      <input
        ref={picker}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Images to insert"
        onChange={(event) => {
          const picked = listImages(event.currentTarget.files);
          editor.chain().focus().insertContent(insertImages(picked)).run();
          event.currentTarget.value = '';
        }}
      />
      {error != null && (
        <p className={classes['error']} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** Changes of the text that the page has not rendered. More are a page that hangs. */
const MAX_UNRENDERED = 1_000;

/** The signature of the sender, which is replaced with the sender. */
const Signature = Node.create({
  name: 'signature',
  group: 'block',
  content: 'paragraph+',
  parseHTML: () => [{ tag: 'div[data-signature]' }],
  renderHTML: () => ['div', { 'data-signature': '' }, 0],
});

/** Returns the position behind what was written, above a signature: where a draft goes on. */
function endOfText({ state }: Editor): number {
  let end = 0;
  state.doc.descendants((node, position) => {
    if (node.isTextblock) end = position + 1 + node.content.size;
    return node.type.name !== Signature.name;
  });
  return end;
}

/** A table that was pasted. Its cells are edited; its shape stays. */
const Table = Node.create({
  name: 'table',
  group: 'block',
  content: 'tableRow+',
  isolating: true,
  parseHTML: () => [{ tag: 'table' }],
  renderHTML: () => ['table', ['tbody', 0]],
});
const TableRow = Node.create({
  name: 'tableRow',
  content: 'tableCell+',
  parseHTML: () => [{ tag: 'tr' }],
  renderHTML: () => ['tr', 0],
});
const TableCell = Node.create({
  name: 'tableCell',
  content: 'block+',
  isolating: true,
  addAttributes: () => ({
    isHeader: { default: false, rendered: false, parseHTML: (cell) => cell.nodeName === 'TH' },
    colspan: span('colspan'),
    rowspan: span('rowspan'),
  }),
  parseHTML: () => [{ tag: 'td' }, { tag: 'th' }],
  renderHTML: ({ node, HTMLAttributes }) => [node.attrs['isHeader'] === true ? 'th' : 'td', HTMLAttributes, 0],
});

/** Cells over which one extends, of as many as a table has at most. */
const MAX_SPAN = 100;

function span(name: 'colspan' | 'rowspan') {
  return {
    default: 1,
    parseHTML: (cell: HTMLElement) =>
      Math.min(MAX_SPAN, Math.max(1, Number.parseInt(cell.getAttribute(name) ?? '1', 10) || 1)),
    renderHTML: (attributes: Record<string, unknown>) => (attributes[name] === 1 ? {} : { [name]: attributes[name] }),
  };
}

/** An image in the text, whose content is an attachment with this Content-ID. Others are removed: they could report who reads the draft. */
function inlineImage(show: (contentId: string) => Promise<string | null>) {
  return Node.create({
    name: 'inlineImage',
    group: 'inline',
    inline: true,
    draggable: true,
    addAttributes: () => ({ contentId: { default: '', rendered: false }, alt: { default: '' } }),
    parseHTML: () => [
      { tag: 'img[data-cid]', getAttrs: (image) => ({ contentId: image.getAttribute('data-cid') ?? '' }) },
    ],
    renderHTML: ({ node, HTMLAttributes }) => [
      'img',
      mergeAttributes({ 'data-cid': String(node.attrs['contentId']) }, HTMLAttributes),
    ],
    addNodeView:
      () =>
      ({ node }) => {
        const image = document.createElement('img');
        image.alt = String(node.attrs['alt']);
        void show(String(node.attrs['contentId'])).then((url) => {
          if (url !== null) image.src = url;
        });
        return { dom: image };
      },
  });
}

/**
 * Returns pasted HTML without images from elsewhere and what never belongs in mail. The editor removes unknown elements. Word processors say
 * in styles what is bold or italic. Images that are part of the HTML become inline images.
 */
function cleanPasted(html: string, { addImage, room }: Pick<RichTextProps, 'addImage' | 'room'>): string {
  const pasted = parse(html);
  for (const element of pasted.querySelectorAll(
    'script, style, link, meta, iframe, object, embed, form, [data-signature]',
  ))
    element.remove();
  // Content-IDs are known only if the editor itself was copied from.
  const isOwn = pasted.querySelector('[data-pm-slice]') !== null;
  const leftOut = takePastedImages(pasted, { isOwn, room, addImage });
  if (leftOut !== null) notify({ message: leftOut, color: 'orange' });
  for (const element of pasted.querySelectorAll('[data-style]')) {
    const style = element.getAttribute('data-style') ?? '';
    element.removeAttribute('data-style');
    if (element.matches('b, strong') && /font-weight:\s*(normal|400)/.test(style))
      element.replaceWith(...element.childNodes);
    if (!element.matches('span')) continue;
    if (/font-weight:\s*(bold|[6-9]00)/.test(style)) wrap(element, 'strong');
    if (/font-style:\s*italic/.test(style)) wrap(element, 'em');
  }
  return pasted.body.innerHTML;
}

function wrap(element: Element, name: 'strong' | 'em'): void {
  const inner = document.createElement(name);
  inner.append(...element.childNodes);
  element.append(inner);
}

/** Parses HTML without the attributes that run code or set styles, whose mere parsing the policy of the page reports. */
function parse(html: string): Document {
  return new DOMParser().parseFromString(harmlessTags(html), 'text/html');
}

/** Returns whether the HTML has text or images, and not only the address of an image. */
function hasContent(html: string): boolean {
  const { body } = parse(html);
  return body.textContent.trim() !== '' || body.querySelector('img[data-src]') !== null;
}

function listImages(files: FileList | null | undefined): File[] {
  return [...(files ?? [])].filter(({ type }) => /^image\/(png|jpeg|gif|webp)$/.test(type));
}

const pastedImages = (count: number) => counted(count, 'pasted image was', 'pasted images were');

/** What the email can still take. */
type ImageRoom = { files: number; bytes: number };

const ENDINGS: Readonly<Record<string, string>> = { png: 'png', jpeg: 'jpg', jpg: 'jpg', gif: 'gif', webp: 'webp' };

/**
 * Turns the `data:` images of pasted HTML (`data-src`, see harmlessTags) into inline images, and removes all others. Returns what to tell the
 * user, null if nothing was left out. Images that the editor has already (`data-cid`) stay if `isOwn`.
 */
function takePastedImages(
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
    const content = source === null || addImage === null ? null : readImageContent(source);
    const isOver = content !== null && (files < 1 || content.size > bytes);
    const file = content === null || isOver ? null : toFile(content);
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
function readImageContent(url: string): ImageContent | null {
  const [, type = '', base64 = ''] = /^data:image\/([a-z]+)(?:;[^,;]*)*;base64,([\s\S]+)$/i.exec(url) ?? [];
  const ending = ENDINGS[type.toLowerCase()];
  return ending === undefined ? null : { ending, base64, size: Math.floor((base64.length * 3) / 4) };
}

/** Returns the file; null if the content is not base64. */
function toFile({ ending, base64 }: ImageContent): File | null {
  try {
    const bytes = Uint8Array.from(atob(decodeURIComponent(base64)), (letter) => letter.charCodeAt(0));
    return new File([bytes], `image.${ending}`, { type: `image/${ending === 'jpg' ? 'jpeg' : ending}` });
  } catch {
    return null;
  }
}
