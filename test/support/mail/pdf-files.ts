import { deflateSync } from 'node:zlib';

const STANDARD_FONT = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>';

/** Returns a PDF of one page per content stream (ISO 32000-2 §7.8), with one font. */
export function makePdf(
  pages: readonly Buffer<ArrayBuffer>[],
  filter: string | null = null,
  font = STANDARD_FONT,
): Buffer {
  const kids = pages.map((_, at) => `${4 + 2 * at} 0 R`).join(' ');
  const objects: Buffer<ArrayBuffer>[][] = [
    [Buffer.from('<</Type/Catalog/Pages 2 0 R>>')],
    [Buffer.from(`<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`)],
    [Buffer.from(font)],
    ...pages.flatMap((stream, at): Buffer<ArrayBuffer>[][] => [
      [
        Buffer.from(
          `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${5 + 2 * at} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`,
        ),
      ],
      [
        Buffer.from(`<<${filter === null ? '' : `/Filter ${filter}`}/Length ${stream.length}>>stream\n`),
        stream,
        Buffer.from('\nendstream'),
      ],
    ]),
  ];
  const parts = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let length = 9;
  const push = (part: Buffer<ArrayBuffer>) => {
    parts.push(part);
    length += part.length;
  };
  for (const [at, object] of objects.entries()) {
    offsets.push(length);
    for (const part of [Buffer.from(`${at + 1} 0 obj`), ...object, Buffer.from('endobj\n')]) push(part);
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF`;
  return Buffer.concat([...parts, Buffer.from(table, 'latin1')]);
}

/** Returns a PDF with these lines on each page. */
export function makeTextPdf(pages: readonly (readonly string[])[]): Buffer {
  return makePdf(
    pages.map((lines) => {
      const shown = lines.map((line) => `(${line.replaceAll(/[\\()]/g, '\\$&')}) Tj 0 -20 Td`);
      return Buffer.from(`BT /F1 12 Tf 72 700 Td ${shown.join(' ')} ET`, 'latin1');
    }),
  );
}

/** Returns a PDF with Japanese text in a font that is not embedded and has no `ToUnicode` map (ISO 32000-2 §9.7.5.2). */
export function makeUnmappedPdf(): Buffer {
  const descendant =
    '<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>>>';
  const font = `<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3/Encoding/UniJIS-UCS2-H/DescendantFonts[${descendant}]>>`;
  return makePdf([Buffer.from('BT /F1 12 Tf 72 700 Td <8ACB6C4266F8> Tj ET')], null, font);
}

/** Returns a small PDF whose page takes hundreds of megabytes when it is read. */
export function makePdfBomb(): Buffer {
  return makePdf([deflateSync(Buffer.alloc(1_000_000_000, 32), { level: 9 })], '/FlateDecode');
}
