import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDmarcAttachment } from '../../actors/receiving/dmarc-attachment.ts';
import { examineDmarcReport } from '../../core/domains/dmarc-report.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { corporaDirectory, hasCorpora } from '../support/mail/corpora.ts';
import { mailWith } from '../support/mail/dmarc-reports.ts';

const folder = path.join(corporaDirectory, 'dmarc');

describe.skipIf(!hasCorpora)('of the DMARC reports of the corpora', () => {
  test('18 of 19 are read; the other one is not XML', async () => {
    const files = (await readdir(folder)).filter((file) => file !== 'LICENSE');
    const refused: string[] = [];
    for (const file of files) {
      const bytes = await readFile(path.join(folder, file));
      const mail = file.endsWith('.eml')
        ? Buffer.from(bytes.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1')
        : mailWith({ contentType: 'application/octet-stream', filename: file, content: bytes });
      const report = await readDmarcAttachment(mail, (await parseMessage(mail)).attachments);
      if (report === null) refused.push(file);
      else expect(report.messageCount, file).toBeGreaterThan(0);
    }
    expect(files).toHaveLength(19);
    expect(refused).toEqual(['invalid_xml.xml']);
    expect(examineDmarcReport(await readFile(path.join(folder, 'invalid_xml.xml'), 'utf8'))).toMatch(
      /^The text is not valid XML: /,
    );
  });
});
