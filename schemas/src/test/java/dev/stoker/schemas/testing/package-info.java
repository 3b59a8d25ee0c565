/** What the tests of all modules share beside their fixtures: the count of started processes. */
package dev.stoker.schemas.testing;
