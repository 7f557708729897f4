import { Avatar } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { previewPath } from './attachment-paths.ts';

/** A member: the picture, or the initials. The name is beside it. `size` in pixels. */
export function Face({ name, image, size }: { name: string; image: string | null | undefined; size: number }) {
  return <Avatar src={image ?? null} name={name} size={size} radius="xl" color="gray" alt="" aria-hidden />;
}

/** Pixels of a side. */
const SIDE = 56;
/** Bytes of an image that is read for a thumbnail, and pixels that its header may name: what is larger could take the memory of the tab. */
const MAX_BYTES = 5_000_000;
const MAX_PIXELS = 40_000_000;

/** Returns whether an attachment gets a thumbnail. */
export function hasThumbnail({ contentType, size }: { contentType: string; size: number }): boolean {
  return size <= MAX_BYTES && /^image\/(?:png|jpe?g|gif|webp)$/i.test(contentType);
}

/** An image attachment, scaled down in the page once it is in sight; `fallback` until then, and for what is no image. */
export function Thumbnail({ emailId, index, fallback }: { emailId: string; index: number; fallback: ReactNode }) {
  const place = useRef<HTMLSpanElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isSeen, setSeen] = useState(false);
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && setSeen(true));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!isSeen) return;
    const ending = new AbortController();
    draw(previewPath(emailId, index), canvas.current, ending.signal).then(setDrawn, () => setDrawn(false));
    return () => ending.abort();
  }, [isSeen, emailId, index]);
  return (
    <span ref={place} style={{ display: 'inline-flex' }} aria-hidden>
      <canvas ref={canvas} width={SIDE} height={SIDE} hidden={!isDrawn} data-thumbnail={isDrawn || undefined} />
      {!isDrawn && fallback}
    </span>
  );
}

async function draw(url: string, canvas: HTMLCanvasElement | null, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(url, { signal });
  const type = response.headers.get('content-type') ?? '';
  if (canvas === null || !response.ok || !type.startsWith('image/')) return false;
  const blob = await response.blob();
  const size = blob.size > MAX_BYTES ? null : readSize(new DataView(await blob.arrayBuffer()));
  if (size === null || size.width * size.height > MAX_PIXELS) return false;
  const scale = SIDE / Math.min(size.width, size.height);
  const image = await createImageBitmap(blob, {
    resizeWidth: Math.max(1, Math.min(SIDE * 8, Math.round(size.width * scale))),
    resizeHeight: Math.max(1, Math.min(SIDE * 8, Math.round(size.height * scale))),
    resizeQuality: 'medium',
  });
  canvas.getContext('2d')?.drawImage(image, (SIDE - image.width) / 2, (SIDE - image.height) / 2);
  image.close();
  return !signal.aborted;
}

/** Returns width and height as the header of a PNG, GIF, JPEG or WebP image says; null if it says none. */
function readSize(view: DataView): { width: number; height: number } | null {
  const length = view.byteLength;
  if (length < 30) return null;
  const size = (width: number, height: number) => (width > 0 && height > 0 ? { width, height } : null);
  const start = view.getUint32(0);
  if (start === 0x89_50_4e_47) return size(view.getUint32(16), view.getUint32(20));
  if (start === 0x47_49_46_38) return size(view.getUint16(6, true), view.getUint16(8, true));
  if (start === 0x52_49_46_46 && view.getUint32(8) === 0x57_45_42_50) {
    const chunk = view.getUint32(12);
    if (chunk === 0x56_50_38_58)
      return size(1 + (view.getUint32(24, true) & 0xff_ffff), 1 + (view.getUint32(26, true) >>> 8));
    if (chunk === 0x56_50_38_20) return size(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
    const bits = view.getUint32(21, true);
    return size(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
  }
  if (start >>> 16 !== 0xffd8) return null;
  // The segments of a JPEG image up to its frame.
  for (let at = 2; at + 9 < length; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return size(view.getUint16(at + 7), view.getUint16(at + 5));
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}
