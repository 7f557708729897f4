import { z } from 'zod';
import { MAX_REPLAYED } from '../../operations/endpoints/replays.ts';
import { text } from './text.ts';

/** interface.md "Limits" */
const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_000;

/** What an endpoint of every type is called. */
export const endpointNaming = {
  name: text.min(1).max(MAX_NAME_LENGTH),
  description: text.max(MAX_DESCRIPTION_LENGTH).nullish(),
};
export const endpointNamingShape = z.object(endpointNaming);

/** Emails that one call delivers again at most. */
export const replayLimitShape = z
  .number()
  .int()
  .min(1)
  .default(MAX_REPLAYED)
  .transform((value) => Math.min(value, MAX_REPLAYED))
  .meta({ description: `emails at most; above ${MAX_REPLAYED} counts as ${MAX_REPLAYED}` });
export const replayInputShape = z.object({ limit: replayLimitShape });
