/** One attachment of a stored message and where its encoded octets lie in the raw octets. Stored in email_content.attachments. */
export interface Attachment {
  /** 0-based, in the order of the message */
  index: number;
  /** never empty; `attachment-N.ext` or `message-N.eml` when the part has no name (N from 1) */
  filename: string;
  contentType: string;
  /** decoded size in octets */
  size: number;
  /** `<local@host>`; null when the part has none */
  contentId: string | null;
  contentDisposition: 'attachment' | 'inline' | null;
  /** first octet of the encoded body within the raw message */
  start: number;
  /** length of the encoded body in octets */
  length: number;
  /** lower-case Content-Transfer-Encoding */
  transferEncoding: 'base64' | 'quoted-printable' | '7bit' | '8bit' | 'binary' | 'uuencode';
}
