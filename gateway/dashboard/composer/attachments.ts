import { useRef, useState } from 'react';
import { randomId } from '../parts/notify.tsx';
import type { StoredDraft } from './composer-documents.ts';

/** Maximum size of texts and files together (bytes), and maximum number of files. */
export const MAX_CONTENT_BYTES = 10 * 1_024 * 1_024;
export const MAX_FILES = 20;

/** An attachment of the email. */
export interface AttachedFile {
  /** of this page, or of the draft's attachment */
  id: string;
  name: string;
  size: number;
  /** null: only the service has it */
  file: File | null;
  /** of an inline image, without angle brackets; null: an attachment */
  contentId: string | null;
}

/** Formats a size such as "3.2 MB", in units of 1,024. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_024 * 1_024) return `${Math.round(bytes / 1_024)} KB`;
  return `${(bytes / 1_024 / 1_024).toFixed(1)} MB`;
}

/** Returns an error message if these files cannot be sent with this text, or null. */
export function refusalOfFiles(files: readonly AttachedFile[], text: string): string | null {
  if (files.length > MAX_FILES)
    return `An email can have at most ${MAX_FILES} files. Remove ${files.length - MAX_FILES} of them.`;
  const bytes = files.reduce((sum, { size }) => sum + size, new TextEncoder().encode(text).length);
  if (bytes <= MAX_CONTENT_BYTES) return null;
  return `An email can have at most ${sizeText(MAX_CONTENT_BYTES)} in total, and this one has ${sizeText(bytes)}. Remove files, or send a link to them.`;
}

/** Returns how many files and bytes an email with these files can still take. */
export function roomBeside(files: readonly AttachedFile[]): { files: number; bytes: number } {
  return { files: MAX_FILES - files.length, bytes: MAX_CONTENT_BYTES - files.reduce((sum, { size }) => sum + size, 0) };
}

/** Returns the files as GraphQL input: files of the draft by their ids, the others with their content. Throws if a file can no longer be read. */
export async function attachmentsInput(
  files: readonly AttachedFile[],
  stored: ReadonlyMap<string, string>,
): Promise<
  ({ id: string } | { filename: string; contentType: string | null; content: string; contentId: string | null })[]
> {
  return Promise.all(
    files.map(async ({ id, name, file, contentId }) => {
      const storedId = stored.get(id);
      if (storedId !== undefined) return { id: storedId };
      if (file === null) throw new Error(`${name} is no longer stored. Attach it again.`);
      const url = await readDataUrl(file);
      const contentType = file.type === '' ? null : file.type;
      return { filename: name, contentType, content: url.slice(url.indexOf(',') + 1), contentId };
    }),
  );
}

/** Returns the content of a file as a `data:` URL. Rejects if the file can no longer be read. */
function readDataUrl(file: File | Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''));
    reader.addEventListener('error', () =>
      reject(new Error(`${file instanceof File ? file.name : 'The file'} can no longer be read`)),
    );
    reader.readAsDataURL(file);
  });
}

export interface Files {
  files: readonly AttachedFile[];
  add: (files: readonly File[]) => void;
  /** Adds an image that the HTML refers to. Returns its Content-ID. */
  addImage: (file: File) => string;
  remove: (id: string) => void;
  /** Returns the `data:` URL of an inline image; null if it is missing. */
  showImage: (contentId: string) => Promise<string | null>;
}

/** Keeps the attachments and inline images of a draft. */
export function useFiles(stored: StoredDraft | null): Files {
  const [files, setFiles] = useState<readonly AttachedFile[]>(
    () =>
      stored?.attachments.map(({ id, filename, size, contentId }) => ({
        id,
        name: filename,
        size,
        file: null,
        contentId: contentId?.replace(/^<|>$/g, '') ?? null,
      })) ?? [],
  );
  // The editor shows an image before the next rendering.
  const images = useRef(new Map(files.map((file) => [file.contentId ?? '', file])));
  const attached = (file: File, contentId: string | null) => ({
    id: randomId(),
    name: file.name,
    size: file.size,
    file,
    contentId,
  });
  return {
    files,
    add: (more) => setFiles((now) => [...now, ...more.map((file) => attached(file, null))]),
    addImage(file) {
      const contentId = `${randomId()}@inline`;
      const image = attached(file, contentId);
      images.current.set(contentId, image);
      setFiles((now) => [...now, image]);
      return contentId;
    },
    remove: (id) => setFiles((now) => now.filter((one) => one.id !== id)),
    async showImage(contentId) {
      const image = images.current.get(contentId);
      if (image === undefined) return null;
      if (image.file !== null) return readDataUrl(image.file);
      const response = await fetch(`/api/e2/drafts/${stored?.id ?? ''}/attachments/${image.id}`);
      return response.ok ? readDataUrl(await response.blob()) : null;
    },
  };
}
