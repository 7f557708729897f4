import { createContext, useContext } from 'react';

/** Opens what the frame shows over a page. */
export interface Overlays {
  openPalette: () => void;
  openHelp: () => void;
}

/** Set by the frame. */
export const OverlaysContext = createContext<Overlays>({ openPalette: () => undefined, openHelp: () => undefined });

/** Returns the functions that open the command palette and the shortcuts. */
export function useOverlays(): Overlays {
  return useContext(OverlaysContext);
}
