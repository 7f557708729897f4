/** Characters of foreign DNS data that are told to a user, of one record. */
const MAX_LENGTH = 255;

/** Foreign DNS data as it may be stored and shown: no control or formatting characters, and not too long. */
export function cleanText(text: string): string {
  const clean = text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
  return clean.length <= MAX_LENGTH ? clean : `${clean.slice(0, MAX_LENGTH).toWellFormed()}…`;
}
