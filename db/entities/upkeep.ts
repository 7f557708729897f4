import { defineEntity, p } from '@mikro-orm/core';

/**
 * Due-ness is decided by postroom_now(); only test support moves the offset. It is not cheap: where rows come in crowds write (select
 * postroom_now()), which is asked once per statement.
 */
export const ClockSchema = defineEntity({
  name: 'Clock',
  tableName: 'clock',
  properties: {
    id: p.boolean().default(true).primary(),
    shift: p.text().columnType('interval').defaultRaw(`'00:00:00'`),
  },
  checks: [{ name: 'clock_id_check', expression: 'id' }],
});

/** The canary that proves at start that SECRET_KEY is the one the stored ciphertexts were made with. */
export const SecretCanarySchema = defineEntity({
  name: 'SecretCanary',
  tableName: 'secret_canary',
  properties: {
    keyId: p.text().primary(),
    ciphertext: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const DeadRowSchema = defineEntity({
  name: 'DeadRow',
  tableName: 'dead_row',
  properties: {
    userId: p.text().primary(),
    /** the work, see db/queries/upkeep/dead-row.ts */
    step: p.text().primary(),
    /** the actor that does it */
    actor: p.text(),
    /** the id of the row: of an email, a delivery or a recipient */
    subjectId: p.text().primary(),
    /** tries that failed, one after another */
    tries: p.smallint(),
    lastError: p.text(),
    firstFailedAt: p.datetime(3),
    lastFailedAt: p.datetime(3),
    /** not to be worked on before; infinity: dead */
    retryAt: p.datetime().columnType('timestamptz'),
    /** since when it is not tried any more; null: it is tried again */
    deadAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'dead_row_dead', properties: ['deadAt'], where: 'dead_at IS NOT NULL' },
    // Whether anything of a step is set aside at all is asked by every claim.
    { name: 'dead_row_step', properties: ['step', 'retryAt'] },
  ],
});

/** What a user chose; without a row the defaults of the service hold (RETENTION_*). null: for ever. See core/upkeep/retention.ts. */
export const RetentionSchema = defineEntity({
  name: 'Retention',
  tableName: 'retention',
  properties: {
    userId: p.text().primary(),
    rawDays: p.integer().nullable(),
    bodyDays: p.integer().nullable(),
    metadataDays: p.integer().nullable(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  checks: [
    { name: 'retention_body_days_check', expression: '((body_days >= 1) AND (body_days <= 36500))' },
    { name: 'retention_check', expression: '(raw_days <= body_days)' },
    { name: 'retention_check1', expression: '(body_days <= metadata_days)' },
    { name: 'retention_check2', expression: '(raw_days <= metadata_days)' },
    { name: 'retention_metadata_days_check', expression: '((metadata_days >= 1) AND (metadata_days <= 36500))' },
    { name: 'retention_raw_days_check', expression: '((raw_days >= 1) AND (raw_days <= 36500))' },
  ],
});
export class Retention extends RetentionSchema.class {}
RetentionSchema.setClass(Retention);

/**
 * One row per user whose mail is limited: who is at it, and up to where raw messages, bodies and receptions without an email have been
 * looked at. From time to time all is looked at anew, for what was in work when it was passed.
 */
export const RetentionSweepSchema = defineEntity({
  name: 'RetentionSweep',
  tableName: 'retention_sweep',
  properties: {
    userId: p.text().primary(),
    dueAt: p.datetime().columnType('timestamptz'),
    beginsAnewAt: p.datetime().columnType('timestamptz'),
    rawAt: p.datetime(3).nullable(),
    bodiesAt: p.datetime(3).nullable(),
    receptionId: p.text().nullable(),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'retention_sweep_due', properties: ['dueAt'] }],
});
