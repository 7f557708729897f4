/** Largest message that is taken, in bytes of the message as stored: no dot-stuffing, no end of data (RFC 1870 §5). */
export const MAX_MESSAGE_BYTES = 15_000_000;
/** Header section, in bytes and in lines: more stops parsers. */
export const MAX_HEADER_BYTES = 256 * 1024;
export const MAX_HEADER_LINES = 1_000;
/** One line, its CRLF included; RFC 5322 §2.1.1 has 998, mail in the wild has more. */
export const MAX_LINE_BYTES = 1_048_576;
/** Received fields that mean a loop (RFC 5321 §6.3 asks for at least 100 when counting). */
export const MAX_RECEIVED_FIELDS = 50;
