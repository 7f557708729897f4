/** Maximum bytes of a message as stored: without dot-stuffing and end of data (RFC 1870 §5). */
export const MAX_MESSAGE_BYTES = 15_000_000;
/** Maximum bytes and lines of the header section: more stalls parsers. */
export const MAX_HEADER_BYTES = 256 * 1024;
export const MAX_HEADER_LINES = 1_000;
/** Maximum bytes of a line with its CRLF; RFC 5322 §2.1.1 allows 998, but real mail has more. */
export const MAX_LINE_BYTES = 1_048_576;
/** Number of Received fields that means a loop (RFC 5321 §6.3 recommends at least 100 when counting). */
export const MAX_RECEIVED_FIELDS = 50;
