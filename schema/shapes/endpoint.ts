import { z } from 'zod';
import { MAX_REPLAYED } from '../../operations/endpoints/replays.ts';
import { text } from './input.ts';

/** Characters. */
const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_000;

/** Name and description of an endpoint of any type. */
export const endpointNaming = {
  name: text.min(1).max(MAX_NAME_LENGTH),
  description: text.max(MAX_DESCRIPTION_LENGTH).nullish(),
};
export const endpointNamingShape = z.object(endpointNaming);

/** Maximum number of emails that one replay delivers again. */
export const replayLimitShape = z
  .number()
  .int()
  .min(1)
  .default(MAX_REPLAYED)
  .transform((value) => Math.min(value, MAX_REPLAYED))
  .meta({ description: `Maximum number of emails. Values above ${MAX_REPLAYED} count as ${MAX_REPLAYED}.` });
export const replayInputShape = z.object({ limit: replayLimitShape });
