// `control.*`: who drives.
'use strict';

module.exports = {
  'control.set': {
    params: { holder: { type: 'enum', values: ['agent', 'person'], required: true } },
    async run({ holder }, { control }) {
      control.set(holder);
      return { holder: control.holder };
    },
  },

  'control.get': {
    params: {},
    async run(_, { control }) {
      return { holder: control.holder };
    },
  },
};
