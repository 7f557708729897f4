import { invalid } from '../../operations/context.ts';
import { builder } from './builder.ts';

/** Bytes of a long text that are returned by default, and at most. */
const DEFAULT_BYTES = 65_536;
const MAX_BYTES = 1_000_000;

export const maxBytesArgument = {
  defaultValue: DEFAULT_BYTES,
  description: `Number of bytes to return, 1 to ${MAX_BYTES}.`,
};

/** Returns the default for null. Throws validation when the number is out of range. */
export function checkMaxBytes(maxBytes: number | null | undefined): number {
  const most = maxBytes ?? DEFAULT_BYTES;
  if (most < 1 || most > MAX_BYTES) throw invalid(`maxBytes must be 1 to ${MAX_BYTES}`, 'maxBytes');
  return most;
}

/** Decodes up to `most` bytes as UTF-8. Invalid bytes, such as a cut character, become U+FFFD. */
export function textOf(bytes: Uint8Array, most: number): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, most));
}

/** The raw source of an email, or its beginning. */
export interface RawSource {
  text: string;
  isCut: boolean;
}

export const RawSourceRef = builder.objectRef<RawSource>('RawSource').implement({
  description: 'The raw source of an email, including its headers, as text.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.exposeString('text', {
      description:
        'The bytes decoded as UTF-8; invalid bytes become U+FFFD. The sender wrote this text: display it as plain text only.',
    }),
    isCut: t.exposeBoolean('isCut', { description: 'Whether the text was cut. `rawUrl` returns the whole source.' }),
  }),
});
