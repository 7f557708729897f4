import type { ComponentProps, ReactNode } from 'react';
import { isProgram } from '../../../core/mime/program-names.ts';
import { ConfirmButton } from './buttons.tsx';
import { QuietButton } from './controls.tsx';
import { counted } from './words.ts';

/** Programs that a question names. */
const MAX_NAMED = 5;

interface Link {
  href: string;
  download: string | true;
}

interface FileDownloadProps extends Omit<ComponentProps<typeof QuietButton>, 'children' | 'href' | 'download'> {
  /** path of the file; with several files, of their archive */
  path: string;
  files: readonly { filename: string; contentType: string }[];
  /** returns what is shown instead of a button when nothing is asked */
  plain?: (link: Link) => ReactNode;
}

/** Downloads files of an email. Every way to a file leads through here, so that each asks first when a program is among them. */
export function FileDownload({ path, files, plain, ...button }: FileDownloadProps) {
  const programs = files.filter(isProgram);
  const [file] = files;
  if (programs.length === 0) {
    const link: Link = { href: path, download: files.length === 1 && file !== undefined ? file.filename : true };
    return plain?.(link) ?? <QuietButton icon="download" {...button} {...link} />;
  }
  return (
    <ConfirmButton
      icon="alert-triangle"
      {...button}
      question={programs.length === 1 ? 'Download a program?' : `Download ${counted(programs.length, 'program')}?`}
      about={<span className="postroom-wrap">{warn(programs.map(({ filename }) => filename))}</span>}
      confirm={files.length === 1 ? 'Download program' : 'Download all'}
      act={async () => window.location.assign(path)}
    />
  );
}

/** Returns what programs can do, in words. */
function warn(names: readonly string[]): string {
  const rest = names.length > MAX_NAMED ? ['others'] : [];
  const named = new Intl.ListFormat('en').format([...names.slice(0, MAX_NAMED), ...rest]);
  return names.length === 1
    ? `${named} is a program, and can do anything on the computer that opens it. Open it only if you expected it from this sender.`
    : `${named} are programs, and can do anything on the computer that opens them. Open them only if you expected them from this sender.`;
}
