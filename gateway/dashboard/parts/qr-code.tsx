import encodeQR from 'qr';
import { useMemo } from 'react';

/** Width and height on the page, with the quiet zone. Pixels. */
const SIZE = 200;
/** Modules around the code, which ISO/IEC 18004 requires. */
const QUIET_ZONE = 4;

/** A QR code, black on white in dark mode, too: many cameras read no other. `label` says what it is to those who do not see it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { modules, path } = useMemo(() => drawCode(text), [text]);
  return (
    <svg role="img" aria-label={label} width={SIZE} height={SIZE} viewBox={`0 0 ${modules} ${modules}`}>
      <rect width={modules} height={modules} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}

/** Returns the modules of a side, and the dark ones as a path: one rectangle for each run in a row. */
function drawCode(text: string): { modules: number; path: string } {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE });
  const runs = rows.flatMap((row, y) =>
    [
      ...row
        .map((isDark) => (isDark ? '1' : '0'))
        .join('')
        .matchAll(/1+/g),
    ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  );
  return { modules: rows.length, path: runs.join('') };
}
