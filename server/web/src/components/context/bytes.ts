import { bytes } from "@/lib/time";

/** byteText is a size as people say it: where there is room, "812 bytes". */
export function byteText(n: number): string {
  return n < 1000 ? (n === 1 ? "1 byte" : `${n} bytes`) : bytes(n);
}
