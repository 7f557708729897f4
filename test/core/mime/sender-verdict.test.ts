import { expect, test } from 'vitest';
import type { Authentication } from '../../../core/mime/authentication.ts';
import { type SenderVerdict, senderVerdict } from '../../../core/mime/sender-verdict.ts';

const readOrganization = (domain: string) => domain.split('.').slice(-2).join('.');
const nothing: Authentication = {
  spf: { result: 'none', domain: 'shop.test' },
  dkim: [],
  dmarc: { result: 'none', policy: null, domain: 'shop.test' },
  arc: { result: 'none' },
  hasSeveralFromFields: false,
};
const passed = { result: 'pass', policy: 'reject', domain: 'shop.test' } as const;
const failed = { result: 'fail', policy: 'reject', domain: 'shop.test' } as const;
const signed = (domain: string, result: 'pass' | 'fail' = 'pass') => [{ result, domain, selector: 's' }];

test.each<[Partial<Authentication>, SenderVerdict['verdict'], string | null, RegExp]>([
  [{ dkim: signed('shop.test'), dmarc: passed }, 'verified', 'shop.test', /^shop\.test signed this message/],
  [{ dkim: [...signed('mailer.test'), ...signed('mail.shop.test')] }, 'verified', 'mail.shop.test', /DKIM/],
  [{ spf: { result: 'pass', domain: 'bounce.shop.test' }, dmarc: passed }, 'verified', 'bounce.shop.test', /SPF/],
  [{ dkim: signed('shop.test', 'fail') }, 'unverified', null, /Anyone can write shop\.test/],
  [{ dkim: signed('mailer.test') }, 'other_domain', 'mailer.test', /but shop\.test does not confirm it\.$/],
  [{ spf: { result: 'pass', domain: 'mailer.test' } }, 'other_domain', 'mailer.test', /SPF/],
  [{ dmarc: failed }, 'failed', null, /^shop\.test does not confirm it \(DMARC\), and asks receivers to reject/],
  [{ dkim: signed('mailer.test'), dmarc: failed }, 'failed', null, /DMARC/],
  [{ dkim: signed('shop.test'), dmarc: failed }, 'failed', null, /DMARC/],
  [{ dmarc: { ...failed, policy: 'none' } }, 'failed', null, /\(DMARC\)\.$/],
  [{ dmarc: failed, arc: { result: 'pass', domain: 'list.test' } }, 'forwarded', 'list.test', /^list\.test forwarded/],
  [{ arc: { result: 'pass' } }, 'forwarded', null, /^A forwarding server/],
  [{ arc: { result: 'fail' } }, 'unverified', null, /No domain vouches/],
  [{ spf: { result: 'temperror', domain: 'shop.test' } }, 'unchecked', null, /DNS/],
  [{ dkim: signed('shop.test'), dmarc: passed, hasSeveralFromFields: true }, 'failed', null, /more than one From/],
  [{ dmarc: { result: 'none', policy: null, domain: null } }, 'unverified', null, /no domain/],
])('%j is %s', (facts, verdict, domain, text) => {
  expect(senderVerdict({ ...nothing, ...facts }, readOrganization)).toEqual({
    verdict,
    domain,
    text: expect.stringMatching(text),
  });
});
