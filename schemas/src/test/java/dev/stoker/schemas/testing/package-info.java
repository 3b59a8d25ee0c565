/**
 * What the tests of all modules share: seeds, rounds and budgets of random tests, the cells that a matrix draws, free
 * ports, and the count of started processes. The package depends on nothing of Stoker.
 */
package dev.stoker.schemas.testing;
