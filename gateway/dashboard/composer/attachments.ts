/** Octets that texts and files of an email may have together, and its files. */
export const MAX_CONTENT_OCTETS = 10 * 1_024 * 1_024;
export const MAX_FILES = 20;

/** A file that goes with the email, held in memory until it is sent. */
export interface AttachedFile {
  id: string;
  file: File;
}

/** As "3.2 MB", counted by 1,024. */
export function sizeText(octets: number): string {
  if (octets < 1_024) return `${octets} B`;
  if (octets < 1_024 * 1_024) return `${Math.round(octets / 1_024)} KB`;
  return `${(octets / 1_024 / 1_024).toFixed(1)} MB`;
}

/** What is wrong with these files beside this text; null: nothing. */
export function refusalOfFiles(files: readonly AttachedFile[], text: string): string | null {
  if (files.length > MAX_FILES)
    return `An email can have at most ${MAX_FILES} files. Remove ${files.length - MAX_FILES} of them.`;
  const octets = files.reduce((sum, { file }) => sum + file.size, new TextEncoder().encode(text).length);
  if (octets <= MAX_CONTENT_OCTETS) return null;
  return `An email can have at most ${sizeText(MAX_CONTENT_OCTETS)} in total, and this one has ${sizeText(octets)}. Remove files, or send a link to them.`;
}

/** The files as the graph takes them. Throws when a file cannot be read any more. */
export async function attachmentsInput(
  files: readonly AttachedFile[],
): Promise<{ filename: string; contentType: string | null; content: string }[]> {
  return Promise.all(
    files.map(async ({ file }) => ({
      filename: file.name,
      contentType: file.type === '' ? null : file.type,
      content: await base64Of(file),
    })),
  );
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    });
    reader.addEventListener('error', () => reject(new Error(`${file.name} can no longer be read`)));
    reader.readAsDataURL(file);
  });
}
