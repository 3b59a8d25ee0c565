/** Shared parts of the tests of all formats: attacks on bytes, and golden files. */
package dev.stoker.schemas.attack;
