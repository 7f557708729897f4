import { type Bus, BusTimeout, BusUnavailable } from '../../schema/messages.ts';
import { busMetrics } from '../../schema/metrics.ts';

/** Wraps the bus to count and time its questions as their asker sees them. */
export function measured(bus: Bus): Bus {
  return {
    ...bus,
    async ask(subject, request, options) {
      const end = busMetrics.questionSeconds.startTimer({ question: subject });
      try {
        const reply = await bus.ask(subject, request, options);
        end({ outcome: 'answered' });
        return reply;
      } catch (error) {
        end({ outcome: outcomeOf(error) });
        throw error;
      }
    },
  };
}

function outcomeOf(error: unknown): 'timeout' | 'unavailable' | 'failed' {
  if (error instanceof BusTimeout) return 'timeout';
  return error instanceof BusUnavailable ? 'unavailable' : 'failed';
}
