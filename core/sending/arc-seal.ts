import type { Authentication } from '../mime/authentication.ts';
import { type DkimSigner, relaxedFields, signFields, signWhole } from './dkim-signature.ts';

/** RFC 8617 §4.2.1: no chain is longer. */
const MAX_INSTANCES = 50;
const RESULTS_NAME = 'arc-authentication-results';
const SIGNATURE_NAME = 'arc-message-signature';
const SEAL_NAME = 'arc-seal';
const ARC_NAMES: ReadonlySet<string> = new Set([RESULTS_NAME, SIGNATURE_NAME, SEAL_NAME]);
/** The first bytes of a relayed original that will be sealed. Received mail never begins with them, because our own fields precede it. */
const UNSEALED_START = 'ARC-Authentication-Results: i=';
const LINE_END = '\r\n';

/**
 * Returns the ARC-Authentication-Results field (RFC 8617 §4.1.1) to put before a received message that is relayed, with its line end. `sealArc`
 * adds the rest of the set when the message is sent. Empty when the message cannot be sealed: its chain was not verified, or ends (§5.1.1).
 */
export function arcResults(message: Buffer, verdicts: Authentication, servedBy: string): string {
  const { spf, dkim, dmarc, arc } = verdicts;
  if (arc.result !== 'none' && arc.result !== 'pass' && arc.result !== 'fail') return '';
  const sets = relaxedFields(message, ARC_NAMES);
  const instance = 1 + Math.max(0, ...sets.map(([, value]) => readInstance(value)));
  if (instance > MAX_INSTANCES || sets.some(([name, value]) => name === SEAL_NAME && findTag(value, 'cv') === 'fail'))
    return '';
  // Verdicts are stored values of other domains, so whatever could end a property is left out.
  const property = (name: string, value: string | null) =>
    value === null || !/^[\w.-]+$/.test(value) ? '' : ` ${name}=${value}`;
  const results = [
    `${UNSEALED_START}${instance}; ${servedBy}`,
    ` spf=${spf.result}${property('smtp.mailfrom', spf.domain)}`,
    ...dkim.map(
      ({ result, domain, selector }) =>
        ` dkim=${result}${property('header.d', domain)}${property('header.s', selector)}`,
    ),
    ` dmarc=${dmarc.result}${property('header.from', dmarc.domain)}`,
    ` arc=${arc.result}`,
  ];
  return `${results.join(`;${LINE_END}`)}${LINE_END}`;
}

/** Returns whether a message waits for the rest of its ARC set. */
export function isUnsealed(message: Buffer): boolean {
  return message.subarray(0, UNSEALED_START.length).equals(Buffer.from(UNSEALED_START));
}

/** Removes the first field of an unsealed message, for a sender without a key. */
export function withoutArcResults(message: Buffer): Buffer {
  const [field = ''] = /^.*(?:\r\n[ \t].*)*\r\n/.exec(message.toString('latin1', 0, MAX_RESULTS_BYTES)) ?? [];
  return message.subarray(field.length);
}

/** Bytes of an ARC-Authentication-Results field of ours at most: 50 signatures of two names each. */
const MAX_RESULTS_BYTES = 65_536;

/**
 * Returns ARC-Seal and ARC-Message-Signature (RFC 8617 §4.1.2, §4.1.3) of an unsealed message, to be put before it. The seal covers all sets of
 * the chain, or only ours when the chain that arrived does not validate (§5.1.2).
 */
export async function sealArc(message: Buffer, signer: DkimSigner, giveWay: () => Promise<unknown>): Promise<string> {
  const fields = relaxedFields(message, ARC_NAMES);
  const [results] = fields;
  if (results === undefined) throw new Error('an unsealed message has no ARC-Authentication-Results');
  const instance = readInstance(results[1]);
  const arrived = /(?:^|; )arc=(none|pass|fail)$/.exec(results[1])?.[1];
  const status = instance === 1 ? 'none' : arrived === 'pass' ? 'pass' : 'fail';
  const signature = await signWhole(message, `ARC-Message-Signature: i=${instance};`, signer, giveWay);
  const [signed] = relaxedFields(Buffer.from(`${signature}${LINE_END}`, 'latin1'), ARC_NAMES);
  const earlier =
    status === 'pass'
      ? Array.from({ length: instance - 1 }, (_, at) => at + 1).flatMap((number) =>
          [RESULTS_NAME, SIGNATURE_NAME, SEAL_NAME].flatMap((name) =>
            fields.filter((field) => field[0] === name && readInstance(field[1]) === number),
          ),
        )
      : [];
  const seal = [
    `ARC-Seal: i=${instance}; a=rsa-sha256; cv=${status};`,
    ` d=${signer.domain};`,
    ` s=${signer.selector};`,
    ' b=',
  ].join(LINE_END);
  const covered = [...earlier, results, ...(signed === undefined ? [] : [signed])];
  return `${await signFields(covered, seal, signer.privateKey)}${signature}`;
}

/** Returns the instance of an ARC field; 0 when it has none. */
function readInstance(value: string): number {
  return Number(findTag(value, 'i') ?? 0);
}

function findTag(value: string, name: 'i' | 'cv'): string | undefined {
  return value
    .split(';')
    .map((tag) => tag.trim())
    .find((tag) => tag.startsWith(`${name}=`) || tag.startsWith(`${name} =`))
    ?.replace(/^\w+ ?= ?/, '');
}
