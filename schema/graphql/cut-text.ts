import { invalid } from '../../operations/context.ts';
import { builder } from './builder.ts';

/** Of a text that may be long, octets that are told when nothing is said, and at most. */
export const USUAL_OCTETS = 65_536;
const MOST_OCTETS = 1_000_000;

export const maxOctetsArgument = {
  defaultValue: USUAL_OCTETS,
  description: `How much of it at most, in octets: 1 to ${MOST_OCTETS}.`,
};

/** Throws validation. */
export function checkMaxOctets(maxOctets: number | null | undefined): number {
  const most = maxOctets ?? USUAL_OCTETS;
  if (most < 1 || most > MOST_OCTETS) throw invalid(`maxOctets must be 1 to ${MOST_OCTETS}`, 'maxOctets');
  return most;
}

/** The beginning of octets as text: what is no UTF-8, as a character that was cut, is told as U+FFFD. */
export function textOf(octets: Uint8Array, most: number): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(octets.subarray(0, most));
}

/** The octets of an email, or their beginning. */
export interface RawSource {
  text: string;
  isCut: boolean;
}

export const RawSourceRef = builder.objectRef<RawSource>('RawSource').implement({
  description: 'An email as it came or went, header section and all, as text.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.exposeString('text', {
      description:
        'Its octets read as UTF-8; what is none is told as U+FFFD. Strangers wrote it: show it as text alone.',
    }),
    isCut: t.exposeBoolean('isCut', { description: 'Whether there is more of it: `rawUrl` answers all of it.' }),
  }),
});
