import { expect, test } from 'vitest';
import { dnsProviderOf } from '../../../core/domains/dns-provider.ts';

test.each([
  [['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'], 'Cloudflare', 'high'],
  [['dns1.registrar-servers.com', 'dns2.registrar-servers.com'], 'Namecheap', 'high'],
  [['NS51.DOMAINCONTROL.COM.', 'ns52.domaincontrol.com'], 'GoDaddy', 'high'],
  [['ns-1.awsdns-01.com', 'ns-2.awsdns-63.net', 'ns-3.awsdns-12.org', 'ns-4.awsdns-09.co.uk'], 'AWS Route 53', 'high'],
  [['ns-cloud-a1.googledomains.com'], 'Google Domains', 'high'],
  [['ns1.vercel-dns.com', 'ns2.vercel-dns.com'], 'Vercel', 'high'],
  [['ns1.digitalocean.com'], 'DigitalOcean', 'high'],
  [['dns1.p01.nsone.net'], 'Netlify', 'high'],
  [['ns1.dnsimple.com', 'ns2.dnsimple-edge.net'], 'DNSimple', 'high'],
  [['ns1.hover.com'], 'Hover', 'high'],
  [['maceio.ns.porkbun.com', 'salvador.porkbun.com'], 'Porkbun', 'high'],
  [['ns01.squarespacedns.com'], 'Squarespace', 'high'],
  [['ada.ns.cloudflare.com', 'ns1.example.net'], 'Cloudflare', 'medium'],
  [['ada.ns.cloudflare.com', 'ns1.hover.com', 'ns2.hover.com'], 'Hover', 'medium'],
  [['ns1.example.net'], 'Custom DNS Provider', 'low'],
  [['cloudflare.com.example.net', 'evilcloudflare.com'], 'Custom DNS Provider', 'low'],
])('%j are of %s (%s)', (servers, name, confidence) => {
  expect(dnsProviderOf(servers)).toEqual({ name, confidence });
});

test('without name servers there is no provider', () => {
  expect(dnsProviderOf([])).toBeNull();
});
