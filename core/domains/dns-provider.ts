/** Who serves the DNS of a domain, as its name servers tell. */
export interface DnsProvider {
  /** for people; `Custom DNS Provider` for one that is not known */
  name: string;
  /** high: all name servers are of it; medium: some are; low: it is not known */
  confidence: 'high' | 'medium' | 'low';
}

const CUSTOM = 'Custom DNS Provider';

/** Names of name servers end so, or, where the labels are numbered, look so. */
const PROVIDERS: readonly [name: string, server: RegExp][] = [
  ['Cloudflare', /\.ns\.cloudflare\.com$/],
  ['Namecheap', /\.(?:registrar-servers|namecheaphosting)\.com$/],
  ['GoDaddy', /\.domaincontrol\.com$/],
  ['AWS Route 53', /\.awsdns-\d+\.(?:com|net|org|co\.uk)$/],
  ['Google Domains', /\.(?:googledomains|google)\.com$/],
  ['Vercel', /\.vercel-dns(?:-\d+)?\.com$/],
  ['DigitalOcean', /\.digitalocean\.com$/],
  ['Netlify', /\.nsone\.net$|\.netlify\.com$/],
  ['DNSimple', /\.dnsimple(?:-edge)?\.(?:com|net|org)$/],
  ['Hover', /\.hover\.com$/],
  ['Porkbun', /\.(?:ns\.)?porkbun\.com$/],
  ['Squarespace', /\.squarespacedns\.com$/],
];

/** The provider whose name servers these are; of several the one with most of them. Null without name servers. */
export function dnsProviderOf(nameServers: readonly string[]): DnsProvider | null {
  if (nameServers.length === 0) return null;
  const servers = nameServers.map((server) => server.toLowerCase().replace(/\.$/, ''));
  const counts = PROVIDERS.map(([name, pattern]) => ({
    name,
    count: servers.filter((server) => pattern.test(server)).length,
  }));
  const best = counts.reduce((most, each) => (each.count > most.count ? each : most));
  if (best.count === 0) return { name: CUSTOM, confidence: 'low' };
  return { name: best.name, confidence: best.count === servers.length ? 'high' : 'medium' };
}
