/** Returns the full date and time in the zone of the request: "Friday, November 27, 2026 at 9:00 AM GMT+9 (Asia/Tokyo)". */
export function timeInZone(at: string, zone: string): string {
  try {
    const words = new Intl.DateTimeFormat('en', {
      weekday: 'long',
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZoneName: 'short',
      timeZone: zone,
    }).format(new Date(at));
    // UTC is both the offset and the name.
    return words.endsWith(zone) ? words : `${words} (${zone})`;
  } catch {
    // A zone that this browser does not know.
    return `${at} (${zone})`;
  }
}
