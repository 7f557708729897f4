import { replyAddressCapability } from '../domains/reply-address-capability.ts';
import { suppressionCapability } from '../sending/suppression-capability.ts';
import type { Capability } from './capability.ts';

/** All capabilities that are declared once. */
export const capabilities: readonly Capability[] = [suppressionCapability, replyAddressCapability];
