import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { INVITED_ROLES } from '../../core/accounts/roles.ts';
import type { GroupRole } from '../../core/accounts/sign-in.ts';
import { WHEN_AWAY } from '../../core/screening/scanner-options.ts';
import { isPercentEncoded } from '../../core/shared/text.ts';

/* The shapes of the environment's values; each says what is allowed. */

export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);
export const port = wholeNumber(1, 65_535);
export const readUrl = (...protocols: string[]) => {
  const names = protocols.map((protocol) => `${protocol}//`).join(' or ');
  return z.string().refine((value) => {
    const url = URL.parse(value);
    return url !== null && protocols.includes(url.protocol) && url.host !== '';
  }, `must be a URL that begins with ${names}`);
};

export const readList = (isItem: (item: string) => boolean, what: string) =>
  z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .refine((items) => items.every(isItem), `must be a comma-separated list of ${what}`);

export const hostName =
  /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*$/;
export const lowerHostName = z.string().toLowerCase().regex(hostName, 'must be a host name');

export const hostAndPort = z.string().transform((value, check) => {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(value);
  const host = match?.[1] ?? match?.[2]?.toLowerCase() ?? '';
  const at = { host, port: Number(match?.[3]) };
  if ((ipaddr.isValid(host) || hostName.test(host)) && at.port >= 1 && at.port <= 65_535) return at;
  check.addIssue({ code: 'custom', message: 'must be host:port' });
  return z.NEVER;
});

/** host:port, or the absolute path of a Unix socket. */
export const hostAndPortOrPath = z
  .string()
  .transform((value, check): { host: string; port: number } | { path: string } => {
    if (value.startsWith('/')) return { path: value };
    const at = hostAndPort.safeParse(value);
    if (at.success) return at.data;
    check.addIssue({ code: 'custom', message: 'must be host:port or the absolute path of a Unix socket' });
    return z.NEVER;
  });

/** A decimal number. */
export const decimal = (least: number, most: number) =>
  z
    .string()
    .regex(/^-?\d{1,6}(?:\.\d{1,3})?$/, `must be a number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a number from ${least} to ${most}`);

export function isDnsServer(item: string): boolean {
  const bracketed = /^\[([0-9a-f:.]+)\](?::(\d{1,5}))?$/i.exec(item) ?? /^([0-9.]+)(?::(\d{1,5}))?$/.exec(item);
  if (bracketed === null) return false;
  return ipaddr.isValid(bracketed[1] ?? '') && Number(bracketed[2] ?? 53) <= 65_535;
}

export function isNetwork(item: string): boolean {
  return ipaddr.isValidCIDR(item);
}

/** `group=role` pairs separated by commas; a group may contain `=`, but no comma. */
export const groupRoles = z
  .string()
  .regex(
    new RegExp(`^[^,]+=(?:${INVITED_ROLES.join('|')})\\s*(?:,[^,]+=(?:${INVITED_ROLES.join('|')})\\s*)*$`),
    `must be a comma-separated list of group=role, with the roles ${INVITED_ROLES.join(', ')}`,
  )
  .transform((value) =>
    value.split(',').map((pair): GroupRole => {
      const at = pair.lastIndexOf('=');
      return { group: pair.slice(0, at).trim(), role: pair.slice(at + 1).trim() as GroupRole['role'] };
    }),
  );

/** `name=value` pairs separated by commas, values percent-encoded where necessary (W3C Baggage §3.3). */
export const pairs = z
  .string()
  .regex(/^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$/, 'must be a comma-separated list of name=value')
  .refine((value) => isPercentEncoded(value), 'must be percent-encoded UTF-8')
  .transform((value) =>
    Object.fromEntries(
      value.split(',').map((pair): [string, string] => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      }),
    ),
  );

/** A share from 0 to 1. */
export const share = z.coerce
  .number({ error: 'must be a number from 0 to 1' })
  .min(0, 'must be a number from 0 to 1')
  .max(1, 'must be a number from 0 to 1');
export const listenHost = z
  .string()
  .refine((value) => ipaddr.isValid(value) || hostName.test(value), 'must be an IP address or a host name');

/** Returns whether the list of addresses and networks contains the address; false for a host name. */
export function isWithin(list: readonly string[], address: string): boolean {
  if (isIP(address) === 0) return false;
  const networks = new BlockList();
  for (const each of list) {
    const [network = '', length] = each.split('/');
    if (length === undefined) networks.addAddress(network, readFamily(network));
    else networks.addSubnet(network, Number(length), readFamily(network));
  }
  return networks.check(address, readFamily(address));
}

function readFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

export const addresses = readList(
  (item) => ipaddr.isValid(item) || isNetwork(item),
  'addresses and networks such as 10.0.0.0/8',
);

export const secretKeyText = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}=?$/, 'must be 32 bytes in base64url (43 characters)')
  .transform((value): Uint8Array => Buffer.from(value, 'base64url'));

/** DNS block and allow lists, of which at most 20 are asked. */
export const listNames = readList(
  (item) => item.includes('.') && hostName.test(item),
  'names of DNS lists such as zen.example.org, in lower case',
).refine((names) => names.length <= 20, {
  error: 'takes at most 20 names',
});

export const refusal = z.enum(['refuse', 'accept'], { error: 'must be refuse or accept' });
export const scannerUrl = readUrl('http:', 'https:').transform((value) => value.replace(/\/+$/, ''));
export const whenAway = z.enum(WHEN_AWAY, 'must be accept, defer or hold');
