/** What a command needs of a logged request. */
export interface RepeatedRequest {
  method: string;
  /** with the query */
  path: string;
  requestHeaders: Readonly<Record<string, string>>;
  /** null: none, or not kept */
  requestBody: string | null;
}

/** Headers that curl sends by itself, or that make no sense once more. */
const LEFT_OUT = new Set(['user-agent', 'accept', 'origin', 'traceparent', 'idempotency-key']);

/**
 * Returns a shell command that sends a logged request again, with the key in `$POSTROOM_KEY`. What was shortened or redacted in its body, the
 * user has to fill in. A repeated request gets no Idempotency-Key, since it would only return the first response.
 */
export function writeCurl({ method, path, requestHeaders, requestBody }: RepeatedRequest, publicUrl: string): string {
  const headers = Object.entries(requestHeaders).filter(([name]) => !LEFT_OUT.has(name));
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(publicUrl + path)}`,
    '-H "Authorization: Bearer $POSTROOM_KEY"',
    ...headers.map(([name, value]) => `-H ${quoted(`${headerName(name)}: ${value}`)}`),
    ...(requestBody === null ? [] : [`--data-raw ${quoted(requestBody)}`]),
  ];
  return lines.join(' \\\n  ');
}

/** `content-type` as `Content-Type` */
function headerName(name: string): string {
  return name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** In single quotes of a shell, in which nothing but the quote itself is special. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
