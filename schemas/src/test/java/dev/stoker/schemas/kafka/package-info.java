/** Records of topics: golden values, vectors shared with Python, and damage of every byte. */
package dev.stoker.schemas.kafka;
