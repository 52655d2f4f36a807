import { BridgeError, type ErrorCode } from '../../base/errors.js';
import type { ProcessFaultCode, Result } from '../../processes/result.js';

/** How a caller meets what a backend answered. */
const codes: Readonly<Record<ProcessFaultCode, ErrorCode>> = {
  NOT_FOUND: 'PROCESS_NOT_FOUND',
  NOT_RUNNING: 'PROCESS_NOT_RUNNING',
  UNREACHABLE: 'PROCESS_UNREACHABLE',
  PROGRAM_NOT_FOUND: 'PROGRAM_NOT_FOUND',
  SPAWN_FAILED: 'SPAWN_FAILED',
  INPUT_CLOSED: 'INPUT_REFUSED',
  INPUT_FULL: 'INPUT_REFUSED',
  NO_TERMINAL: 'NO_TERMINAL',
  UNKNOWN_NAME: 'INVALID_ARGUMENTS',
  BACKEND_UNAVAILABLE: 'DOCKER_UNAVAILABLE',
  IMAGE_NOT_FOUND: 'IMAGE_NOT_FOUND',
  COPY_REFUSED: 'COPY_REFUSED',
  COPY_FAILED: 'COPY_FAILED',
};

/** The value of a result; its fault is thrown as the BridgeError that a caller reads. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const { code, message, hint, cause } = result.fault;
  throw new BridgeError(codes[code], message, hint, { cause });
}
