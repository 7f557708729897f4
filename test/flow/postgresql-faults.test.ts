import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readPostmaster } from '../../db/postmaster.ts';
import { queryOnce } from '../support/cluster.ts';
import { FaultBench } from '../support/fault-bench.ts';
import { checkLedger } from '../support/ledger.ts';
import { restartFast } from '../support/postgresql-process.ts';
import { Service, until } from '../support/service.ts';
import type { SmtpLoadResult } from '../support/smtp-load.ts';

/** Kills and restarts: a slice, or with CHAOS_KILLS=20 the whole. */
const KILLS = Number(process.env['CHAOS_KILLS'] ?? 3);
const RESTARTS = Math.ceil(KILLS / 2);
/** A hang, not a measure: each fault may cost a recovery on a machine that is busy. */
const LIMIT_MS = 120_000 + KILLS * 30_000;

