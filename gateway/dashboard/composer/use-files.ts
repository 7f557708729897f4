import { useRef, useState } from 'react';
import { randomId } from '../parts/random-id.ts';
import { type AttachedFile, dataUrlOf } from './attachments.ts';
import type { StoredDraft } from './composer-documents.ts';

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
      if (image.file !== null) return dataUrlOf(image.file);
      const response = await fetch(`/api/e2/drafts/${stored?.id ?? ''}/attachments/${image.id}`);
      return response.ok ? dataUrlOf(await response.blob()) : null;
    },
  };
}
