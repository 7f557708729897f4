import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { takeMail } from '../../support/rows/gateway-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
