/**
 * How much random tests and matrices of tests do: seeds, rounds, budgets, and the cells that a run draws. It also counts
 * the processes that tests start. It depends on nothing of Stoker, and the tests of all modules use it.
 */
package dev.stoker.schemas.testing;
