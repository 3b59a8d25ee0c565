/** What the tests of all formats have in common: attacks on bytes, and golden files. */
package dev.stoker.schemas.attack;
