import type { Tone } from '../../parts/status-badge.tsx';
import type { ShownDomain, ShownRecord } from './domain-documents.ts';

/** Display names of the records' purposes. */
export const PURPOSES: Record<ShownRecord['purpose'], string> = {
  PROOF: 'Proof of ownership',
  RECEIVING: 'Receiving mail',
  SPF: 'Sending (SPF)',
  DKIM: 'Signatures (DKIM)',
  DMARC: 'Policy (DMARC)',
  MAIL_FROM_MX: 'Bounces (MX)',
  MAIL_FROM_SPF: 'Bounces (SPF)',
};

/** Display name and meaning of each record status. */
export function recordStatus({ status, error }: Pick<ShownRecord, 'status' | 'error'>): { words: string; tone: Tone } {
  if (status === 'VERIFIED') return { words: 'found', tone: 'good' };
  if (status === 'NOT_STARTED') return { words: 'not checked', tone: 'quiet' };
  if (error?.startsWith('Found instead') === true || error?.startsWith('There are') === true)
    return { words: 'different value', tone: 'bad' };
  if (error?.startsWith('DNS did not respond') === true) return { words: 'no response', tone: 'warning' };
  return { words: 'not found', tone: 'waiting' };
}

export function domainTone(status: ShownDomain['status']): Tone {
  return status === 'VERIFIED' ? 'good' : status === 'FAILED' ? 'bad' : 'waiting';
}

/** Where known providers have their DNS settings. Names as the service returns them. */
const PLACES: Record<string, string> = {
  Cloudflare: 'Websites, your domain, DNS, Records. Leave the proxy off ("DNS only").',
  Namecheap: 'Domain List, Manage, Advanced DNS. For MX records choose "Custom MX" under Mail Settings.',
  GoDaddy: 'My Products, your domain, DNS.',
  'AWS Route 53': 'Hosted zones, your domain, Create record. Put TXT values between double quotes.',
  'Google Domains': 'Your domain, DNS, Custom records.',
  Vercel: 'Domains, your domain, DNS Records.',
  DigitalOcean: 'Networking, Domains, your domain.',
  Netlify: 'Domains, your domain, DNS records.',
  DNSimple: 'Your domain, DNS, Record editor.',
  Hover: 'Your domain, DNS.',
  Porkbun: 'Domain Management, your domain, DNS.',
  Squarespace: 'Domains, your domain, DNS Settings, Custom records.',
};

/** Returns the DNS provider and where to enter records there; null if unknown. */
export function providerHint(provider: ShownDomain['provider']): { title: string; where: string | null } | null {
  if (provider === null) return null;
  if (provider.confidence === 'LOW')
    return {
      title: 'Unknown DNS provider',
      where: 'Enter the records where the DNS of the domain is managed, often at the registrar.',
    };
  const title =
    provider.confidence === 'HIGH'
      ? `DNS provider: ${provider.name}`
      : `DNS provider: ${provider.name}, for some of the name servers`;
  return { title, where: PLACES[provider.name] ?? null };
}
