/** Returns whether decodeSingleByte knows the charset. */
export function isSingleByteCharset(name: string): boolean {
  return CHANGES.has(name);
}

/** Decodes EBCDIC of several countries (RFC 1345), or a national variant of ASCII (ISO/IEC 646). */
export function decodeSingleByte(bytes: Uint8Array, name: string): string {
  const table = findTable(name);
  let text = '';
  for (const byte of bytes) text += table[byte] ?? '\ufffd';
  return text;
}

const tables = new Map<string, readonly string[]>();

function findTable(name: string): readonly string[] {
  const known = tables.get(name);
  if (known !== undefined) return known;
  const table = name.startsWith('ebcdic')
    ? EBCDIC.split('')
    : Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const [bytes = '', characters = ''] = CHANGES.get(name) ?? [];
  for (const [at, byte] of [...Buffer.from(bytes, 'hex')].entries()) table[byte] = characters[at] ?? '\ufffd';
  tables.set(name, table);
  return table;
}

/** EBCDIC of the United States, code page 37. The newline 0x15 is a line feed in mail. */
const EBCDIC =
  '\x00\x01\x02\x03\x9c\t\x86\x7f\x97\x8d\x8e\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x9d\n\b\x87\x18\x19\x92\x8f\x1c\x1d\x1e\x1f' +
  '\x80\x81\x82\x83\x84\n\x17\x1b\x88\x89\x8a\x8b\x8c\x05\x06\x07\x90\x91\x16\x93\x94\x95\x96\x04\x98\x99\x9a\x9b\x14\x15\x9e\x1a' +
  ' \u00a0âäàáãåçñ¢.<(+|&éêëèíîïìß!$*);¬-/ÂÄÀÁÃÅÇÑ¦,%_>?øÉÊËÈÍÎÏÌ`:#@\'="Øabcdefghi«»ðýþ±°jklmnopqrªºæ¸Æ¤' +
  'µ~stuvwxyz¡¿ÐÝÞ®^£¥·©§¶¼½¾[]¯¨´×{ABCDEFGHI\u00adôöòóõ}JKLMNOPQR¹ûüùúÿ\\÷STUVWXYZ²ÔÖÒÓÕ0123456789³ÛÜÙÚ\x9f';

/** Bytes in hex, and the characters that they are instead. */
const CHANGES: ReadonlyMap<string, readonly [bytes: string, characters: string]> = new Map([
  ['ebcdic037', ['', '']],
  ['ebcdic1140', ['9f', '€']],
  ['ebcdic500', ['4a4f5a5fb0babb', '[!]^¢¬|']],
  ['ebcdic1148', ['4a4f5a5f9fb0babb', '[!]^€¢¬|']],
  ['ebcdic1047', ['5fadb0babbbd', '^[¬Ý¨]']],
  ['ebcdic273', ['434a4f595a5f636a7ca1b0b5babbc0ccd0dce0ecfc', '{Ä!~Ü^[ö§ß¢@¬|ä¦ü}Ö\\]']],
  ['ebcdic1141', ['434a4f595a5f636a7c9fa1b0b5babbc0ccd0dce0ecfc', '{Ä!~Ü^[ö§€ß¢@¬|ä¦ü}Ö\\]']],
  ['ebcdic277', ['474a4f5a5b5f676a707b7c809c9e9fa1b0babbc0d0dc', '}#!¤Å^$ø¦ÆØ@{[]ü¢¬|æå~']],
  ['ebcdic278', ['43474a4f515a5b5f63676a797b7c9fa1b0b5babbc0ccd0dcec', '{}§!`¤Å^#$öéÄÖ]ü¢[¬|ä¦å~@']],
  ['ebcdic280', ['44484a4f5154585a5f6a797b7c90a1b0b1b5babbc0cdd0dde0', '{\\°!]}~é^òù£§[ì¢#@¬|à¦è`ç']],
  ['ebcdic284', ['494a5a696a7ba1b0babbbd', '¦[]#ñÑ¨¢^!~']],
  ['ebcdic285', ['4a5ba1b0b1babc', '$£‾¢[^~']],
  ['ebcdic297', ['44484a4f51545a5f6a797b7c90a0a1b0b1b5babbbdc0d0dde0', '@\\°!{}§^ùµ£à[`¨¢#]¬|~éè¦ç']],
  ['ebcdic871', ['4a4f5a5f797c8c8e9c9ea1acaeb0babbbec0ccd0e0ec', 'þ!ÆÖðÐ`{}]ö@[¢¬|\\Þ~æ´^']],
  ['iso646de', ['405b5c5d7b7c7d7e', '§ÄÖÜäöüß']],
  ['iso646fr', ['23405b5c5d7b7c7d7e', '£à°ç§éùè¨']],
  ['iso646gb', ['237e', '£‾']],
  ['iso646se', ['245b5c5d7b7c7d7e', '¤ÄÖÅäöå‾']],
  ['iso646se2', ['24405b5c5d5e607b7c7d7e', '¤ÉÄÖÅÜéäöåü']],
  ['iso646no', ['5b5c5d7b7c7d7e', 'ÆØÅæøå‾']],
  ['iso646it', ['23405b5c5d607b7c7d7e', '£§°çéùàòèì']],
  ['iso646es', ['23405b5c5d7b7c7d', '£§¡Ñ¿°ñç']],
]);
