import { expect, test } from 'vitest';
import {
  makeTlsReport,
  readReportTargets,
  type SessionCount,
  tlsReportFileName,
  toStsPolicy,
} from '../../../core/sending/tls-report.ts';

const policy = toStsPolicy('company-y.example', {
  mode: 'testing',
  mx: ['*.mail.company-y.example'],
  maxAgeSeconds: 86_400,
});
const counts: SessionCount[] = [
  { policy, failure: null, sessions: 5_326 },
  {
    policy,
    failure: {
      'result-type': 'certificate-expired',
      'sending-mta-ip': '2001:db8:abcd:0012::1',
      'receiving-mx-hostname': 'mx1.mail.company-y.example',
    },
    sessions: 100,
  },
  {
    policy,
    failure: {
      'result-type': 'starttls-not-supported',
      'sending-mta-ip': '2001:db8:abcd:0013::1',
      'receiving-mx-hostname': 'mx2.mail.company-y.example',
      'receiving-ip': '203.0.113.56',
    },
    sessions: 200,
  },
  {
    policy,
    failure: {
      'result-type': 'validation-failure',
      'sending-mta-ip': '198.51.100.62',
      'receiving-mx-hostname': 'mx-backup.mail.company-y.example',
      'receiving-ip': '203.0.113.58',
      'failure-reason-code': 'X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED',
    },
    sessions: 3,
  },
];
const subject = {
  domain: 'company-y.example',
  day: '2016-04-01',
  reportId: '5065427c-23d3-47ca-b6e0-946ea0e8c4be',
  submitter: 'Company-X',
  contact: 'sts-reporting@company-x.example',
  counts,
};

test('a report has the form of RFC 8460, Appendix B', () => {
  expect(JSON.parse(makeTlsReport(subject))).toEqual({
    'organization-name': 'Company-X',
    'date-range': { 'start-datetime': '2016-04-01T00:00:00Z', 'end-datetime': '2016-04-01T23:59:59Z' },
    'contact-info': 'sts-reporting@company-x.example',
    'report-id': '5065427c-23d3-47ca-b6e0-946ea0e8c4be',
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: testing', 'mx: *.mail.company-y.example', 'max_age: 86400'],
          'policy-domain': 'company-y.example',
          'mx-host': ['*.mail.company-y.example'],
        },
        summary: { 'total-successful-session-count': 5_326, 'total-failure-session-count': 303 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '2001:db8:abcd:0012::1',
            'receiving-mx-hostname': 'mx1.mail.company-y.example',
            'failed-session-count': 100,
          },
          {
            'result-type': 'starttls-not-supported',
            'sending-mta-ip': '2001:db8:abcd:0013::1',
            'receiving-mx-hostname': 'mx2.mail.company-y.example',
            'receiving-ip': '203.0.113.56',
            'failed-session-count': 200,
          },
          {
            'result-type': 'validation-failure',
            'sending-mta-ip': '198.51.100.62',
            'receiving-mx-hostname': 'mx-backup.mail.company-y.example',
            'receiving-ip': '203.0.113.58',
            'failed-session-count': 3,
            'failure-reason-code': 'X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED',
          },
        ],
      },
    ],
  });
});

test('the file of a report is named after submitter, domain, first and last second, and id', () => {
  expect(tlsReportFileName(subject)).toBe(
    'Company-X!company-y.example!1459468800!1459555199!5065427c-23d3-47ca-b6e0-946ea0e8c4be.json.gz',
  );
});

test.each([
  [['v=TLSRPTv1; rua=mailto:reports@example.com'], ['mailto:reports@example.com']],
  [['v=TLSRPTv1;rua=https://a.test/x , mailto:b%2Bc@d.test;'], ['https://a.test/x', 'mailto:b%2Bc@d.test']],
  [['v=TLSRPTv1; rua=http://a.test/,mailto:a@b.test%2Cc@d.test,mailto:nobody'], []],
  [['v=TLSRPTv1; rua=mailto:a@b.test', 'v=TLSRPTv1; rua=mailto:c@d.test'], []],
  [['v=spf1 -all'], []],
])('the records %j name the targets %j', (records, uris) => {
  expect(readReportTargets(records).map(({ uri }) => uri)).toEqual(uris);
});
