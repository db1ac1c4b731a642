/** Random: chance as an argument. */

/** A source of chance; the simulated one is seeded. */
export interface Random {
  /** An integer in [0, bound). */
  nextInt(bound: number): number;
}
