/** The parts of libmime that the parser uses; the package has no types. */
declare module 'libmime' {
  const libmime: {
    /** Decodes RFC 2047 encoded words; throws on some broken ones. */
    decodeWords(text: string): string;
    /** Content type for a file name or extension. */
    detectMimeType(extension: string | false): string;
    /** Extension for a content type, without the dot; `bin` when unknown. */
    detectExtension(contentType: string): string;
  };
  export default libmime;
}

declare module 'libmime/lib/charset.js' {
  const charsets: {
    /** The usual name of a charset in any spelling; unknown ones in capitals. */
    normalizeCharset(charset: string): string;
  };
  export default charsets;
}
