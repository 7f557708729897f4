import { Badge } from '@mantine/core';

/** The status code of a response, with its class as a color. */
export function RequestStatus({ status }: { status: number }) {
  const color = status < 400 ? 'green' : status < 500 ? 'orange' : 'red';
  return (
    <Badge color={color} variant="dot" tt="none" fw={600} radius="sm" style={{ flexShrink: 0 }}>
      {status}
    </Badge>
  );
}
