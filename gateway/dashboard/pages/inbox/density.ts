import { useLocalStorage } from '@mantine/hooks';

/** Height of a row of the list. */
export type Density = 'compact' | 'comfortable';

/** Heights of a row in rem, also used by inbox.module.css. */
export const ROW_REM: Record<Density, number> = { compact: 3.25, comfortable: 5.25 };

/** Returns the density that the user chose in this browser, and a function that changes it. */
export function useDensity(): [Density, (density: Density) => void] {
  const [density, setDensity] = useLocalStorage<Density>({
    key: 'postroom-density',
    defaultValue: 'compact',
    getInitialValueInEffect: false,
  });
  return [density === 'comfortable' ? density : 'compact', setDensity];
}
