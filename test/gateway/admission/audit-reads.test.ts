import { afterAll, beforeAll, expect, test } from 'vitest';
import { takeMail } from '../../support/rows/gateway-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
