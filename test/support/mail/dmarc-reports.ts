import { randomBytes } from 'node:crypto';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { DAY_MS } from '../../../core/shared/durations.ts';

export interface ReportedRecord {
  sourceIp?: string;
  count?: number | string;
  dkim?: 'pass' | 'fail';
  spf?: 'pass' | 'fail';
  headerFrom?: string;
}

export interface ReportOptions {
  /** of the policy */
  domain: string;
  organization?: string;
  reportId?: string;
  begin?: Date;
  end?: Date;
  p?: string;
  records?: readonly ReportedRecord[];
}

/** The XML of a DMARC aggregate report as receivers write it. */
export function dmarcXml(options: ReportOptions): string {
  const { domain, organization = 'receiver.test', reportId = randomBytes(6).toString('hex'), p = 'none' } = options;
  const { end = new Date(), begin = new Date(end.getTime() - DAY_MS), records = [{}] } = options;
  const seconds = (at: Date) => Math.floor(at.getTime() / 1_000);
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata><org_name>${organization}</org_name><email>dmarc@receiver.test</email><report_id>${reportId}</report_id>
    <date_range><begin>${seconds(begin)}</begin><end>${seconds(end)}</end></date_range></report_metadata>
  <policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>s</aspf><p>${p}</p><sp>none</sp><pct>100</pct></policy_published>
  ${records.map((record) => recordXml(record, domain)).join('\n  ')}
</feedback>`;
}

/** One record of such a report. */
export function recordXml(record: ReportedRecord, domain: string): string {
  const { sourceIp = '192.0.2.1', count = 1, dkim = 'pass', spf = 'pass', headerFrom = domain } = record;
  return `<record><row><source_ip>${sourceIp}</source_ip><count>${count}</count><policy_evaluated><disposition>none</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row><identifiers><header_from>${headerFrom}</header_from></identifiers><auth_results><dkim><domain>${headerFrom}</domain><selector>s1</selector><result>${dkim}</result></dkim><spf><domain>bounce.${headerFrom}</domain><result>${spf}</result></spf></auth_results></record>`;
}

export interface AttachedFile {
  contentType: string;
  filename: string;
  content: Buffer;
}

/** The file in the three forms that receivers send. */
export function reportFiles(
  xml: string,
  name = 'receiver.test!own.test!1!2',
): Record<'zip' | 'gzip' | 'xml', AttachedFile> {
  return {
    zip: {
      contentType: 'application/zip',
      filename: `${name}.zip`,
      content: makeZip([{ name: `${name}.xml`, content: Buffer.from(xml) }]),
    },
    gzip: { contentType: 'application/gzip', filename: `${name}.xml.gz`, content: gzipSync(xml) },
    xml: { contentType: 'text/xml', filename: `${name}.xml`, content: Buffer.from(xml) },
  };
}

/** A mail that bears the file. */
export function mailWith({ contentType, filename, content }: AttachedFile, from = 'dmarc@receiver.test'): Buffer {
  const lines = [
    `From: <${from}>`,
    'To: <dmarc@own.test>',
    'Subject: Report domain: own.test Submitter: receiver.test',
    `Message-ID: <${randomBytes(8).toString('hex')}@receiver.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'A report is attached.',
    '--b',
    `Content-Type: ${contentType}; name="${filename}"`,
    `Content-Disposition: attachment; filename="${filename}"`,
    'Content-Transfer-Encoding: base64',
    '',
    content.toString('base64').replaceAll(/.{76}/g, '$&\r\n'),
    '--b--',
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

export interface ZippedFile {
  name: string;
  content: Buffer;
  /** what the archive says it unpacks to, when that is a lie */
  toldSize?: number;
  isEncrypted?: boolean;
}

/** An archive (PKWARE APPNOTE). */
export function makeZip(files: readonly ZippedFile[]): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, content, toldSize = content.length, isEncrypted = false } of files) {
    const packed = deflateRawSync(content);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(isEncrypted ? 1 : 0, 2);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(toldSize, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), shared, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
