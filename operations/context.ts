import type { Logger } from 'pino';
import type { KeyRights } from '../core/accounts/key-rights.ts';
import type { MtaStsMode } from '../core/domains/mta-sts.ts';
import { UserError } from '../core/shared/errors.ts';
import { IDENTIFIER_RANDOM_BYTES, type IdentifierKind, makeIdentifier } from '../core/shared/identifiers.ts';
import type { AddressGuard } from '../core/shared/network-address.ts';
import type { Retention } from '../core/upkeep/retention.ts';
import type { Database } from '../db/connection/database.ts';
import type { EntityStore } from '../db/entities/store.ts';
import type { Bus } from '../schema/messages.ts';
import type { Caller } from './caller.ts';
import type { EventHub } from './events/event-hub.ts';

/** What the service as a whole brings to every operation. */
export interface OperationParts {
  /** role postroom_gateway */
  database: Database;
  entities: EntityStore;
  bus: Bus;
  /** who follows which feed in this process */
  events: EventHub;
  log: Logger;
  now: () => Date;
  /** octets from a cryptographic source */
  random: (octets: number) => Uint8Array;
  settings: OperationSettings;
  /** Has this gateway look up the keys of a user anew, so that one that was revoked opens nothing from here on. */
  forgetCredentials: (userId: string) => void;
}

export interface OperationSettings {
  /** without a slash at its end */
  publicUrl: string;
  mailHostname: string;
  /** what domains ask of senders in their MTA-STS policies */
  mtaStsMode: MtaStsMode;
  /** added without proof by DNS; lower case */
  trustedDomains: readonly string[];
  /** see core/shared/secret-box.ts */
  secretKey: Uint8Array;
  /** of each user; 0: no limit */
  requestsPerSecond: number;
  /** messages that a user may send within an hour; 0: no limit */
  sendLimitPerHour: number;
  /** how long mail of users is kept who chose nothing */
  retention: Retention;
  /** whether guard rules of type ai_prompt can be made */
  hasGuardModel: boolean;
  /** where people hand mail over to try the service out */
  smtp: { host: string; port: number };
  /** of the service */
  version: string;
  /** whether anybody may make an account */
  isSignUpOpen: boolean;
  /** what URLs of users may reach */
  guard: AddressGuard;
}

/** The parts with the user who asks: the first argument of every operation. */
export interface OperationContext extends OperationParts {
  userId: string;
  /** what the request may do; the gateway has asked for it already */
  rights: KeyRights;
  /** on performance.now(): the user is told then that it did not work, whatever is still under way */
  answerBy: number;
  caller: Caller;
}

export function newIdentifier(context: OperationParts, kind: IdentifierKind): string {
  return makeIdentifier(kind, context.now(), context.random(IDENTIFIER_RANDOM_BYTES));
}

/** Whether a text can be an id of ours, so that the database can be asked for it; anything else is simply not found. */
export function isAskable(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}

/** An input that cannot be taken, with the field that is at fault. */
export function invalid(message: string, field: string): UserError {
  return new UserError('validation', message, { details: [{ field, message }] });
}

/** Whether a statement failed because a unique value is taken. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === UNIQUE_VIOLATION;
}

/** PostgreSQL, Appendix A. */
const UNIQUE_VIOLATION = '23505';
